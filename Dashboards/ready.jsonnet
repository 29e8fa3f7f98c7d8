// The boards that are ready to use, by their paths below Ready.
local boards = import 'all.libsonnet';

{
  ['grafana/boards/holdfast-%s.json' % name]: boards[name]
  for name in std.objectFields(boards)
}
