what = 'module'
