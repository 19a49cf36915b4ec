/** Defines the flags for admission. */
import { flag, readBoolean, text } from '../../base/flags/flags.ts'
import { controlNames, defaultControls, readControls } from './admission-controls.ts'
import { readCount } from './values.ts'

export const admissionFlags = {
  enableAdmissionPlugins: flag({
    name: 'enable-admission-plugins',
    value: 'NAMES',
    read: readControls,
    help: `admission plugins to enable in addition to the default plugins (${defaultControls.join(', ')}; in orch up also NodeRestriction), separated by commas; available plugins, in execution order: ${controlNames.join(', ')}`,
  }),
  disableAdmissionPlugins: flag({
    name: 'disable-admission-plugins',
    value: 'NAMES',
    read: readControls,
    help: 'default admission plugins to disable, separated by commas',
  }),
  admissionControlConfigFile: flag({
    name: 'admission-control-config-file',
    value: 'FILE',
    read: text,
    help: 'AdmissionConfiguration file with the settings for admission plugins',
  }),
  notReadyTolerationSeconds: flag({
    name: 'default-not-ready-toleration-seconds',
    value: 'SECONDS',
    default: '300',
    read: readCount,
    help: 'seconds after which a pod is evicted from a node that is not ready, unless the pod specifies a toleration',
  }),
  unreachableTolerationSeconds: flag({
    name: 'default-unreachable-toleration-seconds',
    value: 'SECONDS',
    default: '300',
    read: readCount,
    help: 'seconds after which a pod is evicted from an unreachable node, unless the pod specifies a toleration',
  }),
  enableBreakGlass: flag({
    name: 'enable-break-glass',
    value: 'BOOL',
    default: 'false',
    read: readBoolean,
    help: 'let requests with the Break-Glass header skip admission webhooks; callers need permission to create admissionbypasses',
  }),
}
