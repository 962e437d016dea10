# seconds: 1200
# alone
# 40 MB/s of frames for 20 s, from USB to files, without losses.
keep_up : :
measured "$counts"
