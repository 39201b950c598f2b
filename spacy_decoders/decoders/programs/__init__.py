"""Linear and integer programs, by HiGHS or CBC."""
