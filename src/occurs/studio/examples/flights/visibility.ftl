-- An airport sees less than a mile for two hours.
table Weather (Origin string key, Temperature float, Wind float, Rain float, Visibility float)
trigger blind for each y in (select Origin from Weather):
    eventually (Weather(y).Visibility <= 1 until[>=2 h] true)
    continue at most every 6 h
    emit Blind(Origin = y)
