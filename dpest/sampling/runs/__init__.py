"""How outputs are drawn: a black box or a traced mechanism, many runs at a time, as rows of doubles."""
