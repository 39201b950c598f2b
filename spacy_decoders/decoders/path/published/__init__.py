"""The methods of Deshpande, Barzilay and Karger (2007), for comparison."""
