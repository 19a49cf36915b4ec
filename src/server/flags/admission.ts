/** Flags of admission. */
import { flag, text } from '../../base/flags.ts'
import { controlNames, defaultControls, readControls } from '../admission-controls.ts'

export const admissionFlags = {
  enableAdmissionPlugins: flag(
    'enable-admission-plugins',
    'NAMES',
    '',
    readControls,
    `admission controls to run in addition to the default ones (${defaultControls.join(', ')}), separated by commas; all controls, in the order in which they run: ${controlNames.join(', ')}`,
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
}
