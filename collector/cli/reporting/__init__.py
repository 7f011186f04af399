"""reporting -- the parts of `collector report`"""
