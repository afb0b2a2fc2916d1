"""Parts of messages that more than one pattern needs."""

TAG = r"(?:\[[\w ./-]{1,60}\] )?"
"""Stands before messages about the compilation of one part of a model."""

TOOK = r"(?:takes?|took)"

NUMBER = r"[\d.]{1,20}"
