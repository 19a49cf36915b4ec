/** Names of admission plugins in flags and files. */

import { availabilityOf, exists } from '../../api/versions/availability.ts'
import type { EmulatedVersion } from '../../api/versions/emulated-version.ts'
import { allControls, type ControlEntry, type ControlName } from '../../apiserver/admission/controls/all.ts'
import { unbuiltControls } from '../../apiserver/admission/controls/unbuilt.ts'
import { closestMatch, UsageError } from '../../base/flags/flags.ts'

/** Parses a list of admission plugins. Throws UsageError if a name does not exist in any version. */
export function readControls(text: string): string[] {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  return names.map((name) => findName(name).name)
}

/** Returns the admission plugins of a version, in the order of execution. */
export function controlsOf(version: EmulatedVersion): ControlEntry[] {
  return allControls.filter((control) => exists(control, version))
}

/** Returns the names of all admission plugins of a version, including plugins that the server does not implement. */
export function controlNamesOf(version: EmulatedVersion): ControlName[] {
  return [...allControls, ...unbuiltControls].filter((control) => exists(control, version))
}

/**
 * Returns the admission plugin with this name. Throws UsageError if the version does not have the plugin or the server
 * does not implement it. `place` names the flag or file.
 */
export function findControl(name: string, version: EmulatedVersion, place: string): ControlEntry {
  assertKnown(name, version, place)
  const control = allControls.find((each) => each.name === name)
  if (control === undefined)
    throw new UsageError(`${place}: plugin ${JSON.stringify(name)} is not built into this server`)
  return control
}

/** Throws UsageError if the version does not have the plugin. */
export function assertKnown(name: string, version: EmulatedVersion, place: string): void {
  const control = findName(name)
  const state = availabilityOf(control, { version })
  if (state === 'available') return
  const change = state === 'later' ? `exists since ${control.since}` : `removed in ${control.until}`
  throw new UsageError(
    `${place}: plugin ${JSON.stringify(name)} is unknown (${change}; this server emulates ${version})`,
  )
}

/**
 * Returns the plugin with this name in any version. If no version has the plugin, throws UsageError with a suggestion
 * of the most similar name.
 */
function findName(name: string): ControlName {
  const matchingControl = [...allControls, ...unbuiltControls].find((control) => control.name === name)
  if (matchingControl !== undefined) return matchingControl
  const names = allControls.map((control) => control.name)
  const hint = closestMatch(name, names)
  throw new UsageError(
    `plugin ${JSON.stringify(name)} is unknown${hint === undefined ? '.' : `; did you mean ${hint}?`} Known plugins are ${names.join(', ')}`,
  )
}

export const defaultControls = allControls.filter(({ byDefault }) => byDefault).map(shownName)
export const controlNames = allControls.map(shownName)

/** Formats a plugin name for messages, with the versions that have the plugin. */
function shownName({ name, since, until }: ControlName): string {
  const versions = [since && `since ${since}`, until && `until ${until}`].filter(Boolean)
  return versions.length === 0 ? name : `${name} (${versions.join(', ')})`
}
