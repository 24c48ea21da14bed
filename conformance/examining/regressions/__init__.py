"""How are known defects shown that no schedule reaches: with puppets, or by counts?"""
