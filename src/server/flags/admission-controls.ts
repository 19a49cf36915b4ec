/** Names of admission controls in flags and files. */
import { allControls, type ControlEntry } from '../../apiserver/admission/controls/all.ts'
import { closestMatch, UsageError } from '../../base/flags/flags.ts'

/** Parses a list of admission controls. Throws UsageError for an unknown name. */
export function readControls(text: string): string[] {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  return names.map((name) => findControl(name).name)
}

/** Returns the admission control with this name. Throws UsageError, suggesting the closest known name. */
export function findControl(name: string): ControlEntry {
  const matchingControl = allControls.find((control) => control.name === name)
  if (matchingControl !== undefined) return matchingControl
  const names = allControls.map((control) => control.name)
  const hint = closestMatch(name, names)
  throw new UsageError(
    `unknown admission plugin ${JSON.stringify(name)}${hint === undefined ? '.' : `; did you mean ${hint}?`} Known plugins are ${names.join(', ')}`,
  )
}

export const defaultControls = allControls.filter(({ byDefault }) => byDefault).map(({ name }) => name)
export const controlNames = allControls.map(({ name }) => name)
