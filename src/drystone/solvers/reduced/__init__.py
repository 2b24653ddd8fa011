"""Islands with robots: contacts, joints of the world and rows of robots as one problem."""
