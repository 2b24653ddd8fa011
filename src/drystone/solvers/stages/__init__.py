"""What stages do with contacts beside the solve: impacts, carried contacts, balances."""
