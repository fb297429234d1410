// parts/inner
