/** The names of admission controls, as flags and files give them. */
import { allControls, type ControlEntry } from '../../apiserver/admission/controls/all.ts'
import { closestMatch, UsageError } from '../../base/flags/flags.ts'

/** Reads a list of controls; one that there is not stops the start. */
export function readControls(text: string): string[] {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  return names.map((name) => findControl(name).name)
}

/** The control of this name. Throws UsageError with the closest known name. */
export function findControl(name: string): ControlEntry {
  const found = allControls.find((control) => control.name === name)
  if (found !== undefined) return found
  const names = allControls.map((control) => control.name)
  const hint = closestMatch(name, names)
  throw new UsageError(
    `there is no admission control ${JSON.stringify(name)}${hint === undefined ? '.' : `; did you mean ${hint}?`} Known are ${names.join(', ')}`,
  )
}

export const defaultControls = allControls.filter(({ byDefault }) => byDefault).map(({ name }) => name)
export const controlNames = allControls.map(({ name }) => name)
