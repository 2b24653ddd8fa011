"""Nonsmooth Gauss-Seidel [Jourdan1998]: sweeps over contacts and joint rows, parallel and
accelerated.
"""
