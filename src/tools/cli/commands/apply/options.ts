/** The flags of `orchctl apply`. */
import {
  flag,
  type OptionsOf,
  readBoolean,
  refusedFlag,
  repeated,
  text,
  toggle,
  UsageError,
} from '../../../../base/flags/flags.ts'
import { fileFlags } from '../../arguments/subjects.ts'
import { deletionFlags } from '../../changes/deletion.ts'
import { recordFlag } from '../../changes/kept-notes.ts'
import { validateFlag, writeFlags } from '../../changes/writing.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'

/** `core/v1/ConfigMap` */
function readType(value: string): { readonly apiVersion: string; readonly kind: string } {
  const [group, version, kind, ...more] = value.split('/')
  if (!group || !version || !kind || more.length > 0)
    throw new UsageError(`${JSON.stringify(value)} is not GROUP/VERSION/KIND, such as core/v1/ConfigMap`)
  return { apiVersion: group === 'core' ? version : `${group}/${version}`, kind }
}

export const applyFlags = {
  ...fileFlags,
  ...writeFlags,
  serverSide: toggle({ name: 'server-side', help: 'let the server merge, and record who owns which field' }),
  forceConflicts: toggle({ name: 'force-conflicts', help: 'with --server-side: take over fields that others own' }),
  overwrite: flag({
    name: 'overwrite',
    default: 'true',
    read: readBoolean,
    help: 'set fields that others have changed since the last apply; else they are named, and nothing is changed',
  }),
  openapiPatch: refusedFlag(
    'openapi-patch',
    'patches are made from the kinds that orchctl knows; no OpenAPI document is read',
    { accepted: 'false' },
  ),
  force: toggle({ name: 'force', help: 'delete and create anew what cannot be changed to what the file says' }),
  ...deletionFlags,
  record: recordFlag,
  validate: validateFlag,
  selector: flag({
    name: 'selector',
    letter: 'l',
    value: 'SELECTOR',
    read: text,
    help: 'only objects of the files with these labels; with --prune: what may be pruned',
  }),
  prune: toggle({
    name: 'prune',
    help: 'delete what was applied before, matches -l or --all, and is not in the files any more',
  }),
  all: toggle({ name: 'all', help: 'with --prune: whatever its labels are' }),
  pruneAllowlist: repeated({
    name: 'prune-allowlist',
    value: 'GROUP/VERSION/KIND',
    read: readType,
    help: 'with --prune: the only kinds to look at',
  }),
  pruneWhitelist: repeated({
    name: 'prune-whitelist',
    value: 'GROUP/VERSION/KIND',
    read: readType,
    help: 'the old name of --prune-allowlist',
  }),
  applySet: refusedFlag('applyset', 'not built: --prune goes by labels', { value: 'NAME' }),
  ...connectionFlags,
}

export type ApplyOptions = OptionsOf<typeof applyFlags>
