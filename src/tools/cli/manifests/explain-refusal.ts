/**
 * Explains why the server rejected an object from a file. Lists each cause with the line of the affected field. For
 * conflicts, also lists the owners of the fields and possible solutions.
 */
import type { StatusError } from '../../../client/requests/status-error.ts'
import { statusSentence } from '../program/status-sentence.ts'
import { locate } from './locate.ts'
import type { Origin } from './manifest.ts'
import type { ManifestError } from './manifest-error.ts'

interface Cause {
  readonly reason?: string
  readonly message?: string
  readonly field?: string
}

export function explainRefusal({ origin, doing, subject }: ManifestError, error: StatusError): string {
  const causes: readonly Cause[] = error.status.details?.causes ?? []
  const conflicts = causes.filter(({ reason }) => reason === 'FieldManagerConflict')
  if (conflicts.length > 0) return explainConflicts(origin, subject, conflicts)
  const sentence = statusSentence(error, `error when ${doing} ${JSON.stringify(origin.name)}: `)
  const isNamed = causes.some(({ field = '' }) => field !== '' && field !== wholePatch)
  const lines = isNamed ? causes.flatMap((cause) => causeLine(origin, cause)) : namedFields(origin, error)
  return [sentence, ...lines].join('\n')
}

/** Field name that the server's error contains if the result of a patch is invalid. */
const wholePatch = 'patch'

/** Extracts field names from an error message about unknown fields or a field of the wrong type. */
function namedFields(origin: Origin, { reason, message }: StatusError): string[] {
  if (reason !== 'BadRequest' && reason !== 'Invalid') return []
  const unknown = [...message.matchAll(/unknown field "([^"]+)"/g)].map(([, field]) => field!)
  const wrong = /(?:^|: )([\w.[\]-]+): expected /.exec(message)?.[1]
  return [...unknown, ...(wrong === undefined ? [] : [wrong])].map((field) => `  ${placeText(origin, field)}: ${field}`)
}

function causeLine(origin: Origin, { field, message }: Cause): string[] {
  if (field === undefined || field === '') return []
  return [`  ${placeText(origin, field)}: ${field}: ${withoutLongValue(message ?? '')}`]
}

/**
 * Omits the value in `Invalid value: {...}: field is immutable`. Users can still read the multi-line value in the
 * message above and in the file.
 */
function withoutLongValue(message: string): string {
  return message.replace(/^([\w ]+ value: ).{80,}(: [^:]+)$/s, '$1...$2')
}

/** Returns the position of a field, for example `pods.yaml:12:5`. */
function placeText(origin: Origin, field: string): string {
  const place = locate(origin, field)
  return place === undefined ? origin.name : `${origin.name}:${place.line}:${place.column}`
}

function explainConflicts(origin: Origin, subject: string, conflicts: readonly Cause[]): string {
  const fields = conflicts.map(
    ({ field = '', message = '' }) => `  ${placeText(origin, plainField(field))}: ${field}: ${message}`,
  )
  const { size } = new Set(conflicts.map(({ field }) => field))
  const [count, them] = size === 1 ? ['1 field has', 'it'] : [`${size} fields have`, 'them']
  return `error: ${subject} from ${origin.name} was not applied: ${count} another owner:
${fields.join('\n')}
To resolve the conflict, do one of the following:
* to take ownership and set the values from the file, apply again with --force-conflicts
* to leave ${them} to the other owner, remove ${them} from the file
* to share ownership, set the current value in the file`
}

/**
 * Simplifies a path such as `.spec.template.spec.containers[name="a"].image`. If an element cannot be found by its key,
 * returns the path of its parent.
 */
function plainField(field: string): string {
  return field.replace(/^\./, '').replace(/\[[^\]]*=.*$/, '')
}
