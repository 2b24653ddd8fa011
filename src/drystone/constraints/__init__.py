"""Constraints of a step: islands, contact and joint rows, friction laws, ContactProblem."""
