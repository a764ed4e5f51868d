{{/* The parts that the servers and the migrations have in common. */}}

{{- define "latchkey.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "latchkey.container" -}}
volumeMounts:
  - { name: settings, mountPath: /etc/latchkey, readOnly: true }
  - { name: secrets, mountPath: /run/secrets/latchkey, readOnly: true }
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{/* The settings file. A string and an array of strings are written in TOML as in JSON. */}}
{{- define "latchkey.settings" -}}
base-url = {{ printf "https://%s" .Values.host | toJson }}
trusted-proxies = {{ toJson .Values.trustedProxies }}
{{ .Values.settings }}
{{- end }}

{{/* A change gives the map another name, which starts a rolling update. */}}
{{- define "latchkey.settingsMap" -}}
latchkey-settings-{{ include "latchkey.settings" . | sha256sum | trunc 10 }}
{{- end }}
