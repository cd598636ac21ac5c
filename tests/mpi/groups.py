"""Communicators, groups, topologies, intercommunicators, attributes, hints, errors."""

import numpy as np
from said import MPI, comm, fails, left, rank, right, say, size

say(comm.size, comm.rank, comm.name, comm.is_intra, comm.is_inter, comm.is_topo, comm == MPI.COMM_WORLD,
    comm != MPI.COMM_SELF,
    bool(MPI.COMM_NULL), type(comm).__name__, comm.Get_topology() == MPI.UNDEFINED)
dup = comm.Dup()
say(MPI.Comm.Compare(comm, dup) == MPI.CONGRUENT, MPI.Comm.Compare(comm, comm) == MPI.IDENT, dup == comm,
    comm.Clone().size)
dup.Set_name("copy")
say(dup.Get_name())
sub = comm.Split(rank % 2, -rank)
say(sub.rank, sub.size, comm.Split(MPI.UNDEFINED if rank else 0) == MPI.COMM_NULL,
    comm.Split_type(MPI.COMM_TYPE_SHARED).size)
idup, request = comm.Idup()
request.Wait()
say(idup.size)
group = comm.Get_group()
say(group.size, group.rank, MPI.Group.Translate_ranks(group, [0, size - 1],
    sub.group) == MPI.Group.Translate_ranks(group, [0, size - 1], sub.group))
first = group.Incl([0])
rest = group.Excl([0])
say(first.size, rest.size, MPI.Group.Union(first, rest).size, MPI.Group.Intersection(first, rest).size,
    MPI.Group.Difference(group, first).size,
    MPI.Group.Compare(group, MPI.Group.Union(first, rest)) == MPI.IDENT, group.Range_incl([(0, size - 1, 1)]).size,
    group.Range_excl([(0, 0, 1)]).size, group.Dup().size, MPI.Group.Intersection(first, rest) == MPI.GROUP_EMPTY)
made = comm.Create(first)
say(made == MPI.COMM_NULL, made.size if made else None)
if rank == 0:
    made = comm.Create_group(first, 3)
    made.Free()
for g in group, first, rest:
    g.Free()
say(group == MPI.GROUP_NULL)

dims = MPI.Compute_dims(size, 2)
cart = comm.Create_cart(dims, periods=[True, False], reorder=False)
say(dims, cart.dim, cart.ndim, cart.dims, cart.periods, cart.coords, cart.topo, cart.Get_cart_rank(cart.coords),
    cart.Get_coords(size - 1),
    cart.Shift(0, 1), cart.Shift(1, 1), cart.topology == MPI.CART, cart.Sub([True, False]).size, cart.inedges,
    cart.outedges, cart.degrees)
say(comm.Cart_map([size], [False]), cart.neighbor_allgather(rank), cart.neighbor_alltoall(list(range(4))),
    type(cart.Dup()).__name__)
a, b = np.arange(2.0) + rank, np.full(8, -1.0)
cart.Neighbor_allgather(a, b)
say(b)
cart.Ineighbor_alltoall(np.arange(4.0) + 10 * rank, b[:4]).Wait()
say(b)
cart.Neighbor_allgatherv(a, (b, [2] * 4))
cart.Neighbor_alltoallv((b.copy(), [2] * 4), (b, [2] * 4))
say(b)
index, edges = [i + 1 for i in range(size)], [(i + 1) % size for i in range(size)]
graph = comm.Create_graph(index, edges)
say(graph.dims, graph.nnodes, graph.nedges, graph.index, graph.edges, graph.neighbors, graph.nneighbors,
    graph.Get_neighbors(0), graph.topo)
dist = comm.Create_dist_graph_adjacent([left], [right])
say(dist.Get_dist_neighbors(), dist.Get_dist_neighbors_count(), dist.neighbor_allgather(rank), dist.indegree,
    dist.outdegree)
dist = comm.Create_dist_graph_adjacent([left], [right], [3], [4])
say(dist.Get_dist_neighbors(), dist.topology == MPI.DIST_GRAPH)
dist = comm.Create_dist_graph([rank], [1], [right])
say(dist.inoutedges)
if size > 1:
    half = comm.Split(rank % 2, rank)
    inter = half.Create_intercomm(0, comm, 1 - rank % 2, 7)
    say(inter.is_inter, inter.size, inter.remote_size, inter.remote_group.size, type(inter).__name__)
    say(inter.allgather(rank), inter.allreduce(rank), inter.alltoall([rank] * inter.remote_size))
    root = (MPI.ROOT if half.rank == 0 else MPI.PROC_NULL) if rank % 2 == 0 else 0
    say(inter.bcast("hello", root), inter.gather(rank, root), inter.reduce(rank, root=root))
    got = np.zeros(inter.remote_size)
    inter.Allgather(np.array([float(rank)]), got)
    merged = inter.Merge(rank % 2 == 1)
    say(got, merged.rank, merged.size)

seen = []
key = MPI.Comm.Create_keyval(copy_fn=lambda c, k, v: v + 1, delete_fn=lambda c, k, v: seen.append(v))
dup.Set_attr(key, 5)
again = dup.Dup()
say(dup.Get_attr(key), again.Get_attr(key), comm.Get_attr(key))
dup.Delete_attr(key)
again.Free()
say(seen, dup.Get_attr(key), comm.Get_attr(MPI.TAG_UB) > 30000,
    comm.Get_attr(MPI.WTIME_IS_GLOBAL) in (0, 1, True, False))
info = MPI.Info.Create()
info["one"], info["two"] = "1", "zwei"
info.update(three="3")
say(len(info), sorted(info.keys()), info.get("two"), info.Get("none"), "one" in info, sorted(info.items()),
    info.pop("one"), sorted(info))
copy = info.Dup()
copy.clear()
say(len(copy), info.Get_nkeys(), fails(lambda: info["none"])[0], bool(MPI.INFO_NULL))
copy.Free()
say(fails(comm.Send, b, size + 1), MPI.Exception(MPI.ERR_TRUNCATE), repr(MPI.Exception(3)), MPI.Exception(3) == 3,
    bool(MPI.Exception(0)),
    int(MPI.Exception(5)), MPI.Exception(3) == MPI.Exception(3))
code = MPI.Add_error_code(MPI.Add_error_class())
MPI.Add_error_string(code, "of this program")
say(MPI.Get_error_string(code), comm.Get_errhandler() == MPI.ERRORS_RETURN, MPI.Get_version(), MPI.get_vendor()[0],
    MPI.Query_thread())
say(MPI.Is_initialized(), MPI.Is_finalized(), MPI.Is_thread_main(), MPI.Wtime() > 0, MPI.Wtick() > 0,
    bool(MPI.Get_processor_name()))
say(MPI.COMM_SELF.size, MPI.Comm.Get_parent() == MPI.COMM_NULL, fails(MPI.COMM_NULL.Get_size)[:2], fails(hash, comm)[0])
dup.Free()
say(dup == MPI.COMM_NULL)

called = []
request = MPI.Grequest.Start(lambda status, *a, **k: called.append(("query", a, k)), lambda *a,
    **k: called.append(("free", a, k)),
                             lambda completed, *a, **k: called.append(("cancel", completed, a, k)), (1, 2), {"x": 3})
say(request.Test())
request.Cancel()
request.Complete()
request.Wait()
say(called, request == MPI.REQUEST_NULL)
say([cls.f2py(x.py2f()) == x for cls, x in ((MPI.Comm, comm), (MPI.Datatype, MPI.INT), (MPI.Op, MPI.SUM), (MPI.Info,
    MPI.INFO_NULL))])
key = MPI.Datatype.Create_keyval(copy_fn=True)
t = MPI.INT.Dup()
t.Set_attr(key, "int")
say(t.Get_attr(key), t.Dup().Get_attr(key), MPI.INT.Get_attr(key))
