// What a board is made of. Boards say what they show; where it stands and what Grafana wants to be
// told besides is decided here, and what would make a bad panel is refused.
local width = 24;

local datasource = { type: 'prometheus', uid: '${datasource}' };

// Grafana's own, for what no query tells.
local grafana = { type: 'grafana', uid: '-- Grafana --' };

{
  // The series of the hosts that were picked above the board.
  chosen:: 'job=~"$job",instance=~"$instance"',

  // One metric of those hosts, with more conditions if need be.
  of(metric, more=''):: '%s{%s%s}' % [metric, $.chosen, if more == '' then '' else ',' + more],
  rate(metric, more=''):: 'rate(%s[$__rate_interval])' % $.of(metric, more),
  increase(metric, more=''):: 'increase(%s[$__rate_interval])' % $.of(metric, more),

  // Of a histogram; `by` names the labels that are kept.
  quantile(share, metric, by='', more='')::
    'histogram_quantile(%g, sum by (le%s) (%s))' % [
      share,
      if by == '' then '' else ',' + by,
      $.rate(metric + '_bucket', more),
    ],

  query(expression, legend='__auto'):: { expr: expression, legend: legend },

  // How old a moment is; nothing while the moment is 0, which means that there is none.
  age(metric, more=''):: 'time() - (%s > 0)' % $.of(metric, more),

  // MARK: Panels

  local panel(kind, title, description, unit, queries) = {
    assert std.length(description) >= 20 : 'Panel "%s" needs a description.' % title,
    assert unit != '' : 'Panel "%s" needs a unit ("short" for plain numbers).' % title,
    assert std.length(queries) > 0 : 'Panel "%s" shows nothing.' % title,
    type: kind,
    title: title,
    description: description,
    datasource: datasource,
    fieldConfig: {
      defaults: {
        unit: unit,
        color: { mode: 'palette-classic' },
        thresholds: { mode: 'absolute', steps: [{ color: 'green', value: null }] },
      },
      overrides: [],
    },
    targets: [
      {
        datasource: datasource,
        refId: std.char(65 + index),
        expr: queries[index].expr,
        legendFormat: queries[index].legend,
        range: true,
      }
      for index in std.range(0, std.length(queries) - 1)
    ],
    size:: { w: 8, h: 8 },
  },

  graph(title, description, unit, queries):: panel('timeseries', title, description, unit, queries) {
    fieldConfig+: { defaults+: {
      min: 0,
      custom: {
        drawStyle: 'line',
        lineInterpolation: 'linear',
        lineWidth: 1,
        fillOpacity: 10,
        showPoints: 'never',
        spanNulls: false,
        stacking: { mode: 'none', group: 'A' },
        thresholdsStyle: { mode: 'off' },
      },
    } },
    options: {
      legend: { displayMode: 'list', placement: 'bottom', showLegend: true },
      tooltip: { mode: 'multi', sort: 'desc' },
    },
  },

  stat(title, description, unit, expression)::
    panel('stat', title, description, unit, [$.query(expression)]) {
      size:: { w: 4, h: 4 },
      options: {
        colorMode: 'background',
        graphMode: 'area',
        justifyMode: 'auto',
        orientation: 'auto',
        reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
        textMode: 'auto',
      },
      fieldConfig+: { defaults+: { color: { mode: 'thresholds' } } },
    },

  table(title, description, unit, expression):: panel('table', title, description, unit, [$.query(expression)]) {
    targets: [target { format: 'table', instant: true, range: false } for target in super.targets],
    options: { showHeader: true, cellHeight: 'sm', footer: { show: false } },
    transformations: [{ id: 'organize', options: { excludeByName: { Time: true }, indexByName: {}, renameByName: {} } }],
  },

  // How the observations of a histogram were spread over time.
  heatmap(title, description, unit, metric)::
    panel('heatmap', title, description, unit, [
      $.query('sum by (le) (%s)' % $.increase(metric + '_bucket'), '{{le}}'),
    ]) {
      targets: [target { format: 'heatmap' } for target in super.targets],
      options: {
        calculate: false,
        cellGap: 1,
        color: { mode: 'scheme', scheme: 'Oranges', steps: 64, exponent: 0.5, fill: 'dark-orange' },
        filterValues: { le: 1e-9 },
        legend: { show: true },
        rowsFrame: { layout: 'auto' },
        tooltip: { show: true, yHistogram: false },
        yAxis: { axisPlacement: 'left', reverse: false, unit: unit },
      },
    },

  // MARK: What a panel can be besides

  wide:: { size+:: { w: 12 } },
  whole:: { size+:: { w: 24 } },
  stacked:: { fieldConfig+: { defaults+: { custom+: { stacking+: { mode: 'normal' }, fillOpacity: 40 } } } },
  signed:: { fieldConfig+: { defaults+: { min: null } } },
  share:: { fieldConfig+: { defaults+: { min: 0, max: 1 } } },

  // Green until the first of these values, then yellow, then red. A single one turns red.
  limits(first, second=null):: {
    fieldConfig+: { defaults+: { thresholds: { mode: 'absolute', steps: [
      { color: 'green', value: null },
    ] + (if second == null then [{ color: 'red', value: first }] else [
           { color: 'yellow', value: first },
           { color: 'red', value: second },
         ]) } } },
  },

  // Red below the first of these values, yellow below the second.
  floors(first, second):: {
    fieldConfig+: { defaults+: { thresholds: { mode: 'absolute', steps: [
      { color: 'red', value: null },
      { color: 'yellow', value: first },
      { color: 'green', value: second },
    ] } } },
  },

  // What is counted over a time is reckoned from samples, and is a whole number all the same.
  counted:: { fieldConfig+: { defaults+: { decimals: 0 } } },

  // Lines whose legend ends so have a scale of their own, or they would press the others flat.
  aside(words):: { fieldConfig+: { overrides+: [{
    matcher: { id: 'byRegexp', options: '.*%s' % words },
    properties: [{ id: 'custom.axisPlacement', value: 'right' }, { id: 'custom.fillOpacity', value: 0 }],
  }] } },

  drawn:: { fieldConfig+: { defaults+: { custom+: { thresholdsStyle: { mode: 'line' } } } } },

  plain:: { fieldConfig+: { defaults+: { color: { mode: 'fixed', fixedColor: 'text' } } }, options+: { colorMode: 'none' } },

  // Words for values: `{ '0': ['well', 'green'] }`.
  words(table):: {
    fieldConfig+: { defaults+: { mappings: [
      { type: 'value', options: { [value]: { text: table[value][0], color: table[value][1], index: 0 } } }
      for value in std.objectFields(table)
    ] } },
  },

  row(title, panels):: { title: title, panels: panels },

  // MARK: The board

  local placed(panels, y) = std.foldl(
    function(state, panel)
      local fits = state.x + panel.size.w <= width;
      local x = if fits then state.x else 0;
      local top = if fits then state.y else state.y + state.height;
      {
        x: x + panel.size.w,
        y: top,
        height: if fits then std.max(state.height, panel.size.h) else panel.size.h,
        panels: state.panels + [panel { gridPos: { x: x, y: top, w: panel.size.w, h: panel.size.h } }],
      },
    panels,
    { x: 0, y: y, height: 0, panels: [] }
  ),

  local laidOut(rows) = std.foldl(
    function(state, row)
      local body = placed(row.panels, state.y + 1);
      {
        y: body.y + body.height,
        panels: state.panels + [{
          type: 'row',
          title: row.title,
          collapsed: false,
          panels: [],
          gridPos: { x: 0, y: state.y, w: width, h: 1 },
        }] + body.panels,
      },
    rows,
    { y: 0, panels: [] }
  ).panels,

  local variable(name, label, query) = {
    name: name,
    label: label,
    type: 'query',
    datasource: datasource,
    query: { query: query, refId: name },
    definition: query,
    refresh: 2,
    sort: 1,
    multi: true,
    includeAll: true,
    allValue: '.*',
    current: {},
  },

  local variables = [
    {
      name: 'datasource',
      label: 'Source',
      type: 'datasource',
      query: 'prometheus',
      refresh: 1,
      current: {},
    },
    variable('job', 'Job', 'label_values(holdfast_build_info, job)'),
    variable('instance', 'Host', 'label_values(holdfast_build_info{job=~"$job"}, instance)'),
  ],

  local annotation(name, colour, expression, title) = {
    name: name,
    enable: true,
    iconColor: colour,
    datasource: datasource,
    expr: expression,
    step: '60s',
    titleFormat: name,
    textFormat: title,
  },

  annotations:: [
    annotation(
      'Network',
      'blue',
      'sum by (instance, to) (increase(%s[1m])) > 0' % $.of('holdfast_network_transitions_total'),
      'An upstream of {{instance}} became {{to}}.'
    ),
    annotation(
      'Sync stopped early',
      'orange',
      'sum by (instance, reason) (increase(%s[1m])) > 0' % $.of('holdfast_sync_aborts_total'),
      'A sync of {{instance}} took nothing over: {{reason}}.'
    ),
    annotation(
      'Restart',
      'purple',
      'changes(%s[1m]) > 0' % $.of('process_start_time_seconds'),
      '{{instance}} was started.'
    ),
  ],

  board(uid, title, description, rows):: {
    assert std.startsWith(uid, 'holdfast-') : 'The uid "%s" must begin with holdfast-.' % uid,
    local panels = laidOut(rows),
    uid: uid,
    title: 'Holdfast: ' + title,
    description: description,
    tags: ['holdfast'],
    id: null,
    version: 1,
    schemaVersion: 38,
    editable: false,
    graphTooltip: 1,
    refresh: '30s',
    timezone: 'browser',
    time: { from: 'now-3h', to: 'now' },
    timepicker: {},
    links: [{
      title: 'Holdfast',
      type: 'dashboards',
      tags: ['holdfast'],
      asDropdown: false,
      includeVars: true,
      keepTime: true,
      targetBlank: false,
      icon: 'external link',
      tooltip: '',
      url: '',
    }],
    annotations: { list: [{
      name: 'Annotations',
      builtIn: 1,
      enable: true,
      hide: true,
      iconColor: 'rgba(0, 211, 255, 1)',
      datasource: grafana,
      type: 'dashboard',
    }] + $.annotations },
    templating: { list: variables },
    panels: [
      panels[index] { id: index + 1 }
      for index in std.range(0, std.length(panels) - 1)
    ],
  },
}
