/** Flags of admission. */
import { flag, readBoolean, text } from '../../base/flags/flags.ts'
import { controlNames, defaultControls, readControls } from './admission-controls.ts'
import { readCount } from './values.ts'

export const admissionFlags = {
  enableAdmissionPlugins: flag(
    'enable-admission-plugins',
    'NAMES',
    '',
    readControls,
    `admission controls to run in addition to the default ones (${defaultControls.join(', ')}; in orch up also NodeRestriction), separated by commas; all controls, in the order in which they run: ${controlNames.join(', ')}`,
  ),
  disableAdmissionPlugins: flag(
    'disable-admission-plugins',
    'NAMES',
    '',
    readControls,
    'default admission controls to leave out, separated by commas',
  ),
  admissionControlConfigFile: flag(
    'admission-control-config-file',
    'FILE',
    '',
    text,
    'AdmissionConfiguration file with the settings of admission controls',
  ),
  notReadyTolerationSeconds: flag(
    'default-not-ready-toleration-seconds',
    'SECONDS',
    '300',
    readCount,
    'how long a pod stays on a node that is not ready, unless the pod says so itself',
  ),
  unreachableTolerationSeconds: flag(
    'default-unreachable-toleration-seconds',
    'SECONDS',
    '300',
    readCount,
    'how long a pod stays on a node that cannot be reached, unless the pod says so itself',
  ),
  enableBreakGlass: flag(
    'enable-break-glass',
    'BOOL',
    'false',
    readBoolean,
    'let requests with the header Break-Glass pass without admission webhooks; callers need the permission to create admissionbypasses',
  ),
}
