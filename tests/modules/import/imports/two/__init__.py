what = 'py'
