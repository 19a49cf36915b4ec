/**
 * The names of definitions that only one of a group can have. Those that a definition is granted it holds, by claims that
 * are taken in the very commit that grants them: so two servers never grant one name to two definitions.
 */
import { type FieldError, invalid } from '../../model/field-error.ts'
import { checkDns1035Label } from '../../model/names.ts'
import type { KindReservations, Reservation } from '../../schema/reservations.ts'
import type { CustomResourceDefinition, DefinitionNames } from './definition-fields.ts'

/** What resources are called: in paths and on the command line. */
export function resourceNames({ plural = '', singular = '', shortNames = [] }: DefinitionNames): string[] {
  return [plural, singular, ...shortNames].filter((name) => name !== '')
}

/** What objects and lists say they are. */
export function kindNames({ kind = '', listKind = '' }: DefinitionNames): string[] {
  return [kind, listKind].filter((name) => name !== '')
}

export const definitionReservations: KindReservations<CustomResourceDefinition> = {
  held: ({ spec, status }) => {
    const names = status?.acceptedNames ?? {}
    const claims = (pool: string, all: string[]): Reservation[] =>
      [...new Set(all.filter(isName))].map((name) => ({ pool, value: `${spec?.group ?? ''}/${name}` }))
    return [...claims('definition-resources', resourceNames(names)), ...claims('definition-kinds', kindNames(names))]
  },
  refusal: ({ value }): FieldError =>
    invalid(
      'status.acceptedNames',
      value.slice(value.indexOf('/') + 1),
      'another definition of the group has this name',
    ),
}

/** A status may be written by hand. What no definition can ask for nobody needs to hold. */
function isName(name: string): boolean {
  return checkDns1035Label(name.toLowerCase()).length === 0
}
