"""Nonsmooth Gauss-Seidel [Jourdan1998] over contacts and joint rows, parallel, accelerated."""
