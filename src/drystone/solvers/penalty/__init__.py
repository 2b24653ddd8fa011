"""The penalty method (PENALTY): contact forces from a PID law, and impacts by impulses."""
