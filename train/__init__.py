"""Makes the embedded model: tokenizer, exercises, training, export, evaluation, model card. See ``README.md``."""
