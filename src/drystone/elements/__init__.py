"""Forces that act on bodies beside gravity: one file each. Read act.py for how a step uses them."""
