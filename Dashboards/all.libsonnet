// All boards, by the names of their files.
{
  overview: import 'Boards/overview.libsonnet',
  queue: import 'Boards/queue.libsonnet',
  conflicts: import 'Boards/conflicts.libsonnet',
  upstream: import 'Boards/upstream.libsonnet',
  mesh: import 'Boards/mesh.libsonnet',
  store: import 'Boards/store.libsonnet',
}
