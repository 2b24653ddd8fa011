"""Constraints of a step: islands, contact rows, joint rows, friction laws, ContactProblem,
residual.
"""
