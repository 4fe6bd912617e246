"""What an agent acts in: the ticket desk, Python functions or a tool server; and the dirt that is put into them."""
