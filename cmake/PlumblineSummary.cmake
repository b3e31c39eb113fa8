# Ends configure by saying what will be built, and for what will not be, why.
