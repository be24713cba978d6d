{{- define "svc.name" -}}
{{- printf "%s" .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end }}

{{- define "svc.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "svc.labels" -}}
{{ include "svc.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "svc.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "svc.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "svc.image" -}}
{{- printf "%s:%s" .Values.image.repository .Values.image.tag | quote -}}
{{- end }}

{{- define "svc.secretVariable" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef:
      name: {{ .secret.name }}
      key: {{ .secret.key }}
{{- end }}

{{- define "svc.variables" -}}
- name: SVC_DATA_DIR
  value: /data
- name: SVC_LOG_FORMAT
  value: json
{{ include "svc.secretVariable" (dict "name" "DATABASE_URI" "secret" .Values.database.secret) }}
{{ include "svc.secretVariable" (dict "name" "SVC_ENCRYPTION_KEY" "secret" .Values.encryptionKey.secret) }}
{{- range $name, $secret := .Values.secrets }}
{{ include "svc.secretVariable" (dict "name" $name "secret" $secret) }}
{{- end }}
{{- range $name, $value := .Values.variables }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}

{{- define "svc.volumeMounts" -}}
- name: data
  mountPath: /data
- name: tmp
  mountPath: /tmp
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "svc.volumes" -}}
- name: data
  emptyDir:
    sizeLimit: {{ .Values.data.sizeLimit }}
- name: tmp
  emptyDir:
    sizeLimit: 1Gi
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* The deployment of one role: (dict "root" $ "role" "api" "pods" .Values.api "scales" false) */}}
{{- define "svc.deployment" -}}
{{- $root := .root }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "svc.name" $root }}-{{ .role }}
  labels:
    {{- include "svc.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
spec:
  {{- if not .scales }}
  replicas: {{ .pods.replicas }}
  {{- end }}
  selector:
    matchLabels:
      {{- include "svc.selector" $root | nindent 6 }}
      app.kubernetes.io/component: {{ .role }}
  strategy:
    type: RollingUpdate
    rollingUpdate:
      maxSurge: 1
      maxUnavailable: 0
  template:
    metadata:
      labels:
        {{- include "svc.selector" $root | nindent 8 }}
        app.kubernetes.io/component: {{ .role }}
      {{- with $root.Values.podAnnotations }}
      annotations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      serviceAccountName: {{ include "svc.name" $root }}
      automountServiceAccountToken: false
      terminationGracePeriodSeconds: {{ add $root.Values.drainSeconds 30 }}
      securityContext:
        {{- include "svc.podSecurity" $root | nindent 8 }}
      {{- with $root.Values.image.pullSecrets }}
      imagePullSecrets:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - name: svc
          image: {{ include "svc.image" $root }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          args:
            - start
            - --role
            - {{ .role }}
            {{- with $root.Values.config }}
            - --config
            - {{ . | quote }}
            {{- end }}
          env:
            - name: SVC_HOST
              value: 0.0.0.0
            - name: SVC_PORT
              value: {{ $root.Values.port | quote }}
            - name: SVC_EXECUTORS
              value: {{ .pods.executors | quote }}
            - name: SVC_SHUTDOWN_GRACE
              value: {{ printf "%vs" $root.Values.drainSeconds }}
            {{- include "svc.variables" $root | nindent 12 }}
          ports:
            - name: http
              containerPort: {{ $root.Values.port }}
          lifecycle:
            preStop:
              # The pod stays available until it is no longer an endpoint of the service.
              exec:
                command: [sleep, '5']
          startupProbe:
            httpGet:
              path: /ok
              port: http
            periodSeconds: 2
            failureThreshold: 60
          livenessProbe:
            httpGet:
              path: /ok
              port: http
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 6
          # /ready is 503 in all pods when no worker is alive or the disk of the database is full. In api pods, reads still work then, and other
          # responses have the reason.
          readinessProbe:
            httpGet:
              path: {{ ternary "/ok?check_stopping=true" "/ready" (eq .role "api") }}
              port: http
            periodSeconds: 5
            timeoutSeconds: 5
            failureThreshold: 2
          resources:
            {{- toYaml .pods.resources | nindent 12 }}
          securityContext:
            {{- include "svc.containerSecurity" $root | nindent 12 }}
          volumeMounts:
            {{- include "svc.volumeMounts" $root | nindent 12 }}
      volumes:
        {{- include "svc.volumes" $root | nindent 8 }}
      {{- with .pods.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .pods.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .pods.affinity }}
      affinity:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .pods.topologySpreadConstraints }}
      topologySpreadConstraints:
        {{- toYaml . | nindent 8 }}
      {{- end }}
{{- end }}
