"""api_python -- truth: makes every call of collector.capture.api once, prints version and state"""

from collector.capture import api

api.sample("plain")
api.sample("umlaut \u00e4")
with api.paused():
    with api.paused():
        pass
api.pause()
with api.paused():
    api.sample("inside")
api.resume()
api.writelog(b"da\0ta")
api.func_load("name", 0x1000, 32, alias="an alias", sourcename="f.src", lines=[(0, 7), (16, 5)])
api.func_load("bare", 2**64 - 8, 8)
api.func_unload(0x1000)
api.module_load("m.o", 0x3000)
api.module_unload(0x3000)
api.terminate_expt()
print(f"version [{api.version()}] active {api.is_recording()}")
raise SystemExit(3)
