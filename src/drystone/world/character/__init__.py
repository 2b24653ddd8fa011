"""Characters: clips of motion capture, figures for them, muscles that follow them (CLINE 5.1).

Read in this order: clips/ (what was captured), figure.py (bodies for the bones), motion.py (smooth
curves through the clip), inverse_dynamics.py (the torques that it took), character.py (a figure in
a world, driven by muscles.py).
"""
