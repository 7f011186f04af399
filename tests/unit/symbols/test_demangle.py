"""test_demangle -- mangled names, shown whole and shown short"""

from __future__ import annotations

import random
import shutil

import pytest

from collector.symbols.demangle import _PLAIN_FUNCTION, _run_filter, _runtime, _Shortener, demangle_many, short_name, without_underscore


def demangle(name: str) -> str:
    return demangle_many((name,))[name]


needs_runtime = pytest.mark.skipif(_runtime() is None, reason="there is no C++ runtime to demangle with")


@needs_runtime
@pytest.mark.parametrize("mangled, plain", [
    ("_ZN3foo3barEi", "foo::bar(int)"),
    ("_ZN3foo3barEi.cold", "foo::bar(int) [clone .cold]"),
    ("_ZN3foo3barEi@plt", "foo::bar(int)@plt"),
    ("_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<int, std::allocator<int> >::push_back(int&&)"),
    ("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"),
    ("_ZN60_$LT$alloc..string..String$u20$as$u20$core..fmt..Display$GT$3fmt17h0123456789abcdefE",
     "<alloc::string::String as core::fmt::Display>::fmt"),
    ("_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17hcbe69001a6df8e06E", "std::rt::lang_start::{{closure}}"),
    ("_ZN3leg16_$udc$n$uef$code13gr$uf6$$udf$e17h8221f6e6a1492cb1E", "leg::\u00dcn\u00efcode::gr\u00f6\u00dfe"),
    ("_ZN4core3f_a4_b_c17h0123456789abcdefE", "core::f_a::_b_c"),
    ("main", "main"),
    ("_Zebra", "_Zebra"),
    ("", ""),
    ("_ZN", "_ZN"),
])
def test_demangle(mangled, plain):
    assert demangle(mangled) == plain


@needs_runtime
@pytest.mark.parametrize("count", [10, 50, 100, 1000])
def test_long_names_stay_whole(count):
    """libstdc++ itself gives up above 1024 characters."""
    name = "_Z1fI" + "St6vectorIiSaIiEE" * count + "Evv"
    if len(name) > 1024 and shutil.which("c++filt") is None:
        pytest.skip("c++filt is not installed")
    assert demangle(name) == "void f<" + ", ".join(["std::vector<int, std::allocator<int> >"] * count) + " >()"


@pytest.mark.parametrize("mangled, plain", [
    ("camlT__fib_81", "T.fib_81"),
    ("camlStdlib__List__map_456", "Stdlib.List.map_456"),
    ("camlStdlib__$40_197", "Stdlib.@_197"),
    ("camlCamlinternalFormat__k$27_3451", "CamlinternalFormat.k'_3451"),
    ("camlT.fib_81", "T.fib_81"),
    ("camlDune__exe__Main__entry", "Dune.exe.Main.entry"),
    ("caml_alloc_shr", "caml_alloc_shr"),
    ("camlT__data_begin", "camlT__data_begin"),
    ("base_GHCziList_filter_info", "GHC.List.filter"),
    ("containerszm0zi6zi4zi1_DataziMapziInternal_balanceL_info", "Data.Map.Internal.balanceL"),
    ("ghczmprim_GHCziClasses_modIntzh_info", "GHC.Classes.modInt#"),
    ("ghczmprim_GHCziTuple_Z3T_con_info", "GHC.Tuple.(,,)"),
    ("Main_zdwzdsgo8_info", "Main.$w$sgo8"),
    ("Main_main_info", "Main.main"),
    ("ZCMain_main_info", "Main.main"),
    ("Foo_get_info", "Foo_get_info"),
    ("my_Foo_get_info", "my_Foo_get_info"),
    ("Main_zy_info", "Main_zy_info"),
    ("stg_ap_pp_info", "stg_ap_pp_info"),
    ("Main_z99999999U_info", "Main.z99999999U"),
    ("get_info", "get_info"),
])
def test_names_of_functional_languages(mangled, plain):
    assert demangle(mangled) == plain
    assert short_name(plain) == plain


def test_names_of_new_rust():
    if shutil.which("c++filt") is None:
        pytest.skip("c++filt is not installed")
    name = "_RINvMNtCsgEmfK2I1SDS_4core3stre18trim_start_matchesReECsgY6Mt91CT9J_14rustc_demangle"
    assert demangle("_RNvNtCsgEmfK2I1SDS_4core3fmt5write") == "core::fmt::write"
    plain = demangle_many([name, "main", "_ZN3foo3barEi"])
    assert "trim_start_matches" in plain[name] and not plain[name].startswith("_R")
    assert plain["main"] == "main"


def test_names_of_d():
    if shutil.which("c++filt") is None:
        pytest.skip("c++filt is not installed")
    plain = demangle_many(["_Dmain", "_D4core6memory2GC4callFZv", "_D8demangle4testFAiXv@plt", "_D1f1gFG16777216iZv", "_Dark",
                           "_RNvNtCsgEmfK2I1SDS_4core3fmt5write"])
    assert list(plain.values()) == ["D main", "core.memory.GC.call()", "demangle.test(int[]...)@plt", "f.g(int[16777216])", "_Dark",
                                    "core::fmt::write"]


@pytest.mark.parametrize("name", ["_Dmain", "_D4core6memory2GC4callFZv", "_RNvNtCsgEmfK2I1SDS_4core3fmt5write"])
def test_without_the_filter_names_stay_as_they_are(name, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    _run_filter.cache_clear()
    assert demangle(name) == name
    _run_filter.cache_clear()


@pytest.mark.parametrize("mangled, plain", [
    ("__kern_MOD_smooth", "kern::smooth"),
    ("__my_kern_MOD_smooth_it", "my_kern::smooth_it"),
    ("__par.child_MOD_only_here", "par::child::only_here"),
    ("__par_MOD___copy_par_T", "par::__copy_par_T"),
    ("__kern_MOD_smooth@plt", "kern::smooth@plt"),
    ("inner.0", "inner"),
    ("inner_loop.12", "inner_loop"),
    ("MAIN__", "MAIN__"),
    ("smooth_", "smooth_"),
    ("__kern_MOD_", "__kern_MOD_"),
    ("main.main.func1.1", "main.main.func1.1"),
    ("f.avx2", "f.avx2"),
    (".L.0", ".L.0"),
    ("1.0", "1.0"),
])
def test_names_of_fortran(mangled, plain):
    assert demangle(mangled) == plain


@pytest.mark.parametrize("name, source, plain", [
    ("smooth_", "/a/kern.f90", "smooth"),
    ("smooth_it_", "/a/KERN.F", "smooth_it"),
    ("smooth_", "kern.for", "smooth"),
    ("smooth_", "/a/kern.c", "smooth_"),
    ("smooth_", "/a/kern.f90.c", "smooth_"),
    ("smooth_", None, "smooth_"),
    ("smooth", "/a/kern.f90", "smooth"),
    ("MAIN__", "/a/kern.f90", "MAIN__"),
    ("kern::smooth_", "/a/kern.f90", "kern::smooth_"),
    ("_", "/a/kern.f90", "_"),
])
def test_underscores_of_fortran(name, source, plain):
    assert without_underscore(name, source) == plain


@needs_runtime
def test_hostile_names():
    for name in ("_Z" + "P" * 5000 + "i", "_ZN" + "1a" * 5000, "_Z1f" + "F" * 3000, "_Z\0", "_Z\udc80", "_R\n", "_R" + "N" * 3000, "_D9\n", "_D" + "9" * 3000):
        assert isinstance(demangle(name), str)


@pytest.mark.parametrize("name, short", [
    ("main", "main"),
    ("foo(int)", "foo(...)"),
    ("foo()", "foo()"),
    ("void std::sort<int*>(int*, int*)", "std::sort<...>(...)"),
    ("std::vector<int, std::allocator<int> >::push_back(int const&)", "std::vector<...>::push_back(...)"),
    ("std::ostream& std::operator<< <char>(std::ostream&, char)", "std::operator<< <...>(...)"),
    ("bool operator< <int>(A<int> const&, A<int> const&)", "operator< <...>(...)"),
    ("shapes::Box<int>& shapes::operator<< <int>(shapes::Box<int>&, int)", "shapes::operator<< <...>(...)"),
    ("A::operator()(int) const", "A::operator()(...) const"),
    ("A::operator bool() const", "A::operator bool() const"),
    ("operator new(unsigned long)", "operator new(...)"),
    ("A::operator->() const", "A::operator->() const"),
    ("(anonymous namespace)::hidden(char const*)", "(anonymous namespace)::hidden(...)"),
    ("foo(int)::{lambda(int)#1}::operator()(int) const", "foo(...)::{lambda(...)#1}::operator()(...) const"),
    ("foo(int) [clone .cold]", "foo(...) [clone .cold]"),
    ("std::string::append[abi:cxx11](char)", "std::string::append[abi:cxx11](...)"),
    ("__main__::f[abi:v1][abi:cw51cXTLSUwv1sCUt9Uw1VEw0NRRQPKzLTg](long long)", "__main__::f[abi:v1](...)"),
    ("decltype (f(0)) g<int>(int)", "g<...>(...)"),
    ("virtual thunk to A::f(int)", "virtual thunk to A::f(...)"),
    ("<alloc::vec::Vec<T> as core::ops::Drop>::drop", "<alloc::vec::Vec<...> as core::ops::Drop>::drop"),
    ("my_operator(int)", "my_operator(...)"),
    ("main.(*T).Work", "main.(*T).Work"),
    ("net/http.(*conn).serve.func1", "net/http.(*conn).serve.func1"),
    ("core.(*Set[go.shape.int]).Add", "core.(*Set[go.shape.int]).Add"),
    ("Outer.<locals>.inner", "Outer.<locals>.inner"),
    ("Object.<anonymous>", "Object.<anonymous>"),
    ("(garbage collector)", "(garbage collector)"),
    ("<(A<B>, C) as Trait>::f", "<(...) as Trait>::f"),
    ("broken<(", "broken<("),
    ("broken)>", "broken)>"),
])
def test_short_name(name, short):
    assert short_name(name) == short


def test_plain_names_are_shortened_as_all_are():
    """What one expression recognises is what the pass over brackets makes of it."""
    chosen = random.Random(3)
    names, inside = ("f", "::", "~", "operator", "decltype"), ("operator", "anonymous namespace", "f", "int*, ", "::", " ", ")", "<", "[2]")
    plain_count = 0
    for _ in range(5_000):
        before, between = "".join(chosen.choices(names, k=chosen.randrange(4))), "".join(chosen.choices(inside, k=chosen.randrange(3)))
        name = f"{before}({between}){chosen.choice(('', ' const', ' ', '@plt'))}"
        if not _PLAIN_FUNCTION.fullmatch(name):
            continue
        plain_count += 1
        try:
            expected = _Shortener(name, True).shorten()
        except IndexError:
            expected = name
        assert short_name(name) == expected, name
    assert plain_count > 500
