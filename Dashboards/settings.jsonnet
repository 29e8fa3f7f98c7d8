// The files of settings that are ready to use, as texts, by their paths below Ready. Where the runbook
// can be read is for whoever runs the host to say: --tla-str runbook=https://ops.example.org/RUNBOOK.md
local ruleBook = import 'rules.libsonnet';

local note = '# Written by `make dashboards`; change what is in Dashboards instead.\n';
local yaml(value) = note + std.manifestYamlDoc(value, quote_keys=false) + '\n';

// Whole sentences and expressions stand by themselves, so that nothing in them has to be quoted.
local whole(name, text, indent) = indent + name + ': |-\n' + indent + '  ' + text + '\n';

local figure(rule) =
  '  - record: ' + rule.record + '\n' + whole('expr', rule.expr, '    ');

local alert(rule) =
  '  - alert: ' + rule.alert + '\n'
  + whole('expr', rule.expr, '    ')
  + '    for: ' + rule['for'] + '\n'
  + '    labels:\n'
  + '      severity: ' + rule.labels.severity + '\n'
  + '    annotations:\n'
  + whole('summary', rule.annotations.summary, '      ')
  + whole('action', rule.annotations.action, '      ')
  + '      runbook_url: ' + rule.annotations.runbook_url + '\n';

local group(one) =
  '- name: ' + one.name + '\n  interval: ' + one.interval + '\n  rules:\n' + std.join('', [
    if std.objectHas(rule, 'alert') then alert(rule) else figure(rule)
    for rule in one.rules
  ]);

function(runbook=null) {
  local rules = if runbook == null then ruleBook() else ruleBook(runbook=runbook),

  'grafana/provisioning/dashboards/holdfast.yml': yaml({
    apiVersion: 1,
    providers: [{
      name: 'Holdfast',
      folder: 'Holdfast',
      type: 'file',
      disableDeletion: true,
      allowUiUpdates: false,
      options: { path: '/etc/grafana/boards' },
    }],
  }),
  'grafana/provisioning/datasources/prometheus.yml': yaml({
    apiVersion: 1,
    datasources: [{
      name: 'Prometheus',
      type: 'prometheus',
      access: 'proxy',
      url: 'http://127.0.0.1:9090',
      isDefault: true,
      jsonData: { timeInterval: '15s' },
    }],
  }),
  'prometheus/prometheus.yml': yaml({
    global: { scrape_interval: '15s', evaluation_interval: '15s' },
    rule_files: ['holdfast.rules.yml'],
    scrape_configs: [{
      job_name: 'holdfast',
      static_configs: [{ targets: ['127.0.0.1:9187'] }],
    }],
  }),
  'prometheus/holdfast.rules.yml': note + 'groups:\n' + std.join('', [group(one) for one in rules.rules.groups]),
}
