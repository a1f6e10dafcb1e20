% The prelude of a verifier: integers, sequences, and a heap of objects.
fof(order_total, axiom, ![X,Y]: (le(X,Y) | le(Y,X))).
fof(order_transitive, axiom, ![X,Y,Z]: ((le(X,Y) & le(Y,Z)) => le(X,Z))).
fof(order_antisymmetric, axiom, ![X,Y]: ((le(X,Y) & le(Y,X)) => X = Y)).
fof(less, axiom, ![X,Y]: (lt(X,Y) <=> (le(X,Y) & X != Y))).
fof(successor, axiom, ![X]: lt(X, succ(X))).
fof(plus_zero, axiom, ![X]: plus(X, zero) = X).
fof(plus_succ, axiom, ![X,Y]: plus(X, succ(Y)) = succ(plus(X,Y))).
fof(length_empty, axiom, length(empty) = zero).
fof(length_build, axiom, ![S,V]: length(build(S,V)) = succ(length(S))).
fof(length_positive, axiom, ![S]: le(zero, length(S))).
fof(length_append, axiom, ![S,T]: length(append(S,T)) = plus(length(S), length(T))).
fof(index_last, axiom, ![S,V]: index(build(S,V), length(S)) = V).
fof(index_before, axiom,
    ![S,V,I]: (lt(I, length(S)) => index(build(S,V), I) = index(S, I))).
fof(append_empty, axiom, ![S]: append(S, empty) = S).
fof(append_build, axiom, ![S,T,V]: append(S, build(T,V)) = build(append(S,T), V)).
fof(take_all, axiom, ![S]: take(S, length(S)) = S).
fof(take_length, axiom, ![S,N]: length(take(S, N)) = N).
fof(take_index, axiom, ![S,N,I]: (lt(I, N) => index(take(S, N), I) = index(S, I))).
fof(contains, axiom,
    ![S,V]: (contains(S,V) <=> ?[I]: (le(zero,I) & lt(I,length(S)) & index(S,I) = V))).
fof(not_in_empty, axiom, ![V]: ~contains(empty, V)).
fof(select_same, axiom, ![H,O,F,V]: select(store(H,O,F,V), O, F) = V).
fof(select_other, axiom,
    ![H,O,P,F,V]: (O != P => select(store(H,O,F,V), P, F) = select(H, P, F))).
fof(alive_store, axiom, ![H,O,P,F,V]: (alive(H,P) => alive(store(H,O,F,V), P))).
fof(null_is_dead, axiom, ![H]: ~alive(H, null)).
fof(new_is_alive, axiom, ![H]: (alive(next(H), new(H)) & ~alive(H, new(H)))).
fof(succ_grows, axiom, ![H,K]: (extends(H,K) => ![O]: (alive(H,O) => alive(K,O)))).
fof(goal, conjecture, ![N]: le(zero, N)).
