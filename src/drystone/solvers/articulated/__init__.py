"""Articulated islands: joints, limits, drives and the contacts that touch them."""
