"""Joints: constraints between two bodies; one file, one joint.

A new joint touches four files:

    constraints/joints/<joint>.py     equations, Jacobians and the kernel that fills its rows; the
                                      class, which says whether the articulated body algorithm can
                                      eliminate it (`_tree`) and its form in the plane (`_flat`)
    model/joint_arrays.py             its number among the kinds
    constraints/joints/fill_rows.py   JOINTS, and a branch of fill_joint(); one of
                                      direction_errors() too if it can be eliminated
    drystone/__init__.py              its public name

Saved worlds, recordings, the tree recursion and two dimensions run over JOINTS.
"""
