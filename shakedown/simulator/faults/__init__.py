"""Named faults: each changes what its name says and nothing else."""
