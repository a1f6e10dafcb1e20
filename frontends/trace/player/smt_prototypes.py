"""What each call of an SMT solver's API does in its library, in the notation of `prototypes`."""

from __future__ import annotations

from reducekit.frontends.trace.player.prototypes import Interface, prefixed

# boolector.h, of version 3.2. Not played: what clones. What is printed to a file goes nowhere.
_UNARY = "not neg inc dec redor redxor redand copy match_node get_value"
_BINARY = """
    xor xnor and nand or nor add mul sub udiv sdiv urem srem smod ult slt ulte slte ugt sgt ugte
    sgte uaddo saddo umulo smulo usubo ssubo sdivo implies iff eq ne sll srl sra rol ror concat
    read const_array
"""
_TESTS = """
    is_const is_bv_const_zero is_bv_const_one is_bv_const_ones is_bv_const_min_signed
    is_bv_const_max_signed is_var is_array is_array_var is_param is_bound_param is_uf is_fun
    is_array_sort is_bitvec_sort is_fun_sort
"""
_OF_SORTS = "zero one ones min_signed max_signed copy_sort"
BOOLECTOR = Interface(
    api="boolector",
    calls={
        "new": "$ = boolector_new()",
        "delete": "boolector_delete(~self)",
        **prefixed("handle boolector_", _UNARY, "self, handle"),
        **prefixed("handle boolector_", _BINARY, "self, handle, handle"),
        **prefixed("handle boolector_", "write cond", "self, handle, handle, handle"),
        **prefixed("handle boolector_", "uext sext repeat roli rori", "self, handle, int"),
        **prefixed("handle boolector_", "slice", "self, handle, int, int"),
        **prefixed("handle boolector_", _OF_SORTS, "self, handle"),
        **prefixed("handle boolector_", "constd consth", "self, handle, str"),
        **prefixed("handle boolector_", "unsigned_int int", "self, int, handle"),
        **prefixed("handle boolector_", "var param array uf", "self, handle, word"),
        **prefixed("handle boolector_", "const match_node_by_symbol", "self, str"),
        **prefixed("handle boolector_", "bitvec_sort match_node_by_id", "self, int"),
        **prefixed("handle boolector_", "true false bool_sort", "self"),
        **prefixed("handle boolector_", "array_sort", "self, handle, handle"),
        **prefixed("handle boolector_", "get_sort bv_assignment", "self, handle"),
        **prefixed(
            "handle boolector_", "fun_get_domain_sort fun_get_codomain_sort", "self, handle"
        ),
        **prefixed("bool boolector_", _TESTS, "self, handle"),
        **prefixed("bool boolector_", "failed", "self, handle"),
        **prefixed("bool boolector_", "is_equal_sort", "self, handle, handle"),
        **prefixed("int boolector_", "get_width get_index_width get_fun_arity", "self, handle"),
        **prefixed("int boolector_", "get_node_id bitvec_sort_get_width", "self, handle"),
        **prefixed("int boolector_", "sat simplify get_refs", "self"),
        **prefixed("int boolector_", "limited_sat", "self, int, int"),
        **prefixed(
            "handle boolector_", "fun apply forall exists", "self, skip, handle*, #, handle"
        ),
        **prefixed("int boolector_", "fun_sort_check", "self, skip, handle*, #, handle"),
        **prefixed("handle boolector_", "fun_sort", "self, handle*, #, handle"),
        **{
            name: f"% = fopen('/dev/null', 'w'); boolector_{name}({arguments})"
            for name, arguments in (
                ("dump_btor", "self, %"),
                ("dump_smt2", "self, %"),
                ("dump_btor_node", "self, %, handle"),
                ("dump_smt2_node", "self, %, handle"),
                ("print_model", "self, str, %"),
                ("print_value_smt2", "self, handle, word, %"),
            )
        },
        **prefixed(
            "boolector_", "array_assignment uf_assignment", "self, handle, room, room, room"
        ),
        # What they take is freed with the solver: a trace has no names for it.
        **dict.fromkeys(
            ("free_array_assignment", "free_uf_assignment"), "getppid(self, skip, skip, skip)"
        ),
        "free_bits": "getppid(self, skip)",
        **prefixed("ptr boolector_", "get_btor", "handle"),
        **prefixed("boolector_", "set_msg_prefix", "self, word"),
        **prefixed("boolector_", "assert assume release release_sort", "self, handle"),
        **prefixed("boolector_", "var_mark_bool add_output free_bv_assignment", "self, handle"),
        **prefixed("boolector_", "get_symbol get_bits", "self, handle"),
        **prefixed("boolector_", "set_symbol", "self, handle, str"),
        **prefixed("boolector_", "set_btor_id", "self, handle, int"),
        **prefixed("boolector_", "push pop", "self, int"),
        **prefixed("boolector_", "fixate_assumptions reset_assumptions release_all", "self"),
        **prefixed("boolector_", "reset_time reset_stats print_stats chkclone", "self"),
        **prefixed("boolector_", "set_sat_solver", "self, str"),
        **prefixed("boolector_", "set_opt", "self, int, skip, int"),
        **prefixed("int boolector_", "first_opt", "self"),
        **prefixed("int boolector_", "next_opt get_opt get_opt_min get_opt_max", "self, int, skip"),
        **prefixed("int boolector_", "get_opt_dflt", "self, int, skip"),
        **prefixed("bool boolector_", "has_opt", "self, int, skip"),
        **prefixed("boolector_", "get_opt_lng get_opt_shrt get_opt_desc", "self, int, skip"),
    },
    contract=rb"\[boolector\] boolector_[a-z_0-9]+:|currently not supported",
)

# cvc5/c/cvc5.h of 1.4. A call that makes a term has the name of SMT-LIB's operator; here is the
# kind of that term, which is a number in the library.
_KINDS = {
    "ite": "ITE", "not": "NOT", "and": "AND", "or": "OR", "xor": "XOR", "implies": "IMPLIES",
    "eq": "EQUAL", "distinct": "DISTINCT", "apply": "APPLY_UF", "select": "SELECT",
    "store": "STORE", "concat": "BITVECTOR_CONCAT", "add": "ADD", "sub": "SUB", "lt": "LT",
    "leq": "LEQ", "gt": "GT", "geq": "GEQ", "bvmul": "BITVECTOR_MULT",
}  # fmt: skip
_BITVECTOR = """
    not neg redor redand and or xor nand nor xnor add sub udiv urem sdiv srem smod shl lshr ashr
    ult ule ugt uge slt sle sgt sge
"""
_KINDS |= {f"bv{name}": f"BITVECTOR_{name.upper()}" for name in _BITVECTOR.split()}
_INDEXED = {"extract": "2, [int int]"} | dict.fromkeys(
    ("repeat", "zero_extend", "sign_extend", "rotate_left", "rotate_right"), "1, [int]"
)
_MANAGER = "% = cvc5_get_tm($)"
_OPERATOR = "%% = cvc5_mk_op(%, BITVECTOR_{}, {}); handle cvc5_mk_term_from_op(%, %%, #, handle*)"
_ANSWER = "% = cvc5_result_to_string(%); int strcspn(%, ' ')"  # unknown has a reason
CVC5 = Interface(
    api="cvc5",
    calls={
        "new": "% = cvc5_term_manager_new(); $ = cvc5_new(%)",
        "delete": f"{_MANAGER}; cvc5_delete(~$); cvc5_term_manager_delete(%)",
        "set_option": "cvc5_set_option($, str, str)",
        "set_logic": "cvc5_set_logic($, str)",
        **{
            name: f"{_MANAGER}; handle cvc5_{function}(%{arguments})"
            for name, function, arguments in (
                ("boolean_sort", "get_boolean_sort", ""),
                ("integer_sort", "get_integer_sort", ""),
                ("bv_sort", "mk_bv_sort", ", int"),
                ("array_sort", "mk_array_sort", ", handle, handle"),
                ("fun_sort", "mk_fun_sort", ", #, handle*, handle"),
                ("const", "mk_const", ", handle, str"),
                ("fun", "mk_const", ", handle, str"),
                ("true", "mk_true", ""),
                ("false", "mk_false", ""),
                ("bv", "mk_bv_uint64", ", int, int"),
                ("integer", "mk_integer_int64", ", int"),
            )
        },
        **{
            name: f"{_MANAGER}; handle cvc5_mk_term(%, {kind}, #, handle*)"
            for name, kind in _KINDS.items()
        },
        **{
            name: f"{_MANAGER}; {_OPERATOR.format(name.upper(), indices)}"
            for name, indices in _INDEXED.items()
        },
        "simplify": "handle cvc5_simplify($, handle, 0)",
        "assert": "cvc5_assert_formula($, handle)",
        **prefixed("cvc5_", "push pop", "$, int"),
        "check_sat": f"% = cvc5_check_sat($); {_ANSWER}",
        "check_sat_assuming": f"% = cvc5_check_sat_assuming($, #, handle*); {_ANSWER}",
        "get_value": "handle cvc5_get_value($, handle)",
        "get_sort": "handle cvc5_term_get_sort(handle)",
        "is_equal": "bool cvc5_term_is_equal(handle, handle)",
        "kind_of": "int cvc5_term_get_kind(handle)",
    },
    contract=rb"API usage error: ",
    error=("cvc5_has_error", "cvc5_get_error_message"),
    spells=("cvc5_kind_to_string", "CVC5_KIND_"),
)
