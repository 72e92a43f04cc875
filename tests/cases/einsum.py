"""Cases of the einsum family."""

from tests.opcases import case, integers, normal


def product(equation, *shapes, dtype="double"):
    return case(
        "Einsum",
        [normal(*s, dtype=dtype, seed=i) for i, s in enumerate(shapes)],
        equation=equation,
        tolerance=1e-2 if dtype in ("half", "bfloat16") else None,
    )


CASES = [
    product("ij,jk->ik", (2, 3), (3, 4)),
    product("ij,kj->ik", (2, 3), (4, 3)),
    product("bij,bjk->bik", (2, 2, 3), (2, 3, 2)),
    product("bij,bjk->kbi", (2, 2, 3), (2, 3, 2)),
    product("aecd,abcd->acbe", (2, 3, 2, 4), (2, 5, 2, 4)),
    product("acbe,aecd->abcd", (2, 2, 5, 3), (2, 3, 2, 4)),
    product("abc,cd->abd", (2, 2, 3), (3, 2)),
    product("abc,acd->abd", (2, 2, 3), (2, 3, 2)),
    product("i,j->ij", (2,), (3,)),
    product("i,i->", (3,), (3,)),
    product("ij,ij->j", (2, 3), (2, 3)),
    product("ij,k->i", (2, 3), (2,)),
    product("ij->ji", (2, 3)),
    product("ij->", (2, 3)),
    product("ijk->kj", (2, 3, 2)),
    product("ii->i", (3, 3)),
    product("ii->", (3, 3)),
    product("iji->j", (3, 2, 3)),
    product("i->ii", (3,)),
    product("ij->iji", (2, 3)),
    product("ii,ij->j", (3, 3), (3, 2)),
    product("a,a->aa", (3,), (3,)),
    product("...ij,...jk->...ik", (2, 2, 3), (2, 3, 2)),
    product("...ij,...jk->...ik", (4, 1, 2, 3), (2, 3, 2)),
    product("...ij,jk->...ik", (2, 2, 3), (3, 2)),
    product("ij,...jk->...ik", (2, 3), (2, 3, 2)),
    product("i...j,j...->i...", (2, 3, 4), (4, 1)),
    product("...a,a...->...a", (2, 3), (3, 1)),
    product("...i->...", (2, 2, 3)),
    product("...->...", (2, 3)),
    product("...ii->...i", (2, 3, 3)),
    product(",->", (), ()),
    product("ab,b->a", (2, 3), (3,), dtype="half"),
    product("ab,b->a", (2, 3), (3,), dtype="bfloat16"),
    product("ab,bc->ac", (2, 3), (3, 2), dtype="complex64"),
    product("ab,bc->ac", (2, 3), (3, 2), dtype="complex128"),
    case("Einsum", [integers(2, 3), integers(3, 2)], equation="ab,bc->ac"),
    case("Einsum", [integers(2, 3, dtype="int64"), integers(3, 2, dtype="int64")], equation="ab,bc->ca"),
    product("ab,bc->ac", (2, 0), (0, 3)),
    product("ab,bc->ac", (0, 2), (2, 3)),
    product("ij,jk", (2, 3), (3, 4)),
    product("ij,jk->ik", (2, 1), (3, 4)),
    product("...i->i", (2, 3)),
    product("ij,j->i", (2, 3)),
    product("ii->i", (3, 4)),
    product("...i,...i->...i", (2, 3), (5, 3)),
    product("i1->i", (2, 2)),
]
