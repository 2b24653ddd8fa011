"""Forces that act on bodies beside gravity: one file each. Read apply.py for how a step uses
them.
"""
