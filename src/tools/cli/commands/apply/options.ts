/** Defines the flags of `orchctl apply`. */
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
import { recordFlag } from '../../changes/change-cause.ts'
import { deletionFlags } from '../../changes/deletion.ts'
import { validateFlag, writeFlags } from '../../changes/report-write.ts'
import { connectionFlags } from '../../connection/connection-flags.ts'

/** Parses a type such as `core/v1/ConfigMap`. */
function readType(value: string): { readonly apiVersion: string; readonly kind: string } {
  const [group, version, kind, ...more] = value.split('/')
  if (!group || !version || !kind || more.length > 0)
    throw new UsageError(`${JSON.stringify(value)} must have the form GROUP/VERSION/KIND, such as core/v1/ConfigMap`)
  return { apiVersion: group === 'core' ? version : `${group}/${version}`, kind }
}

export const applyFlags = {
  ...fileFlags,
  ...writeFlags,
  serverSide: toggle({ name: 'server-side', help: 'merge on the server and track field owners' }),
  forceConflicts: toggle({ name: 'force-conflicts', help: 'with --server-side: take ownership of conflicting fields' }),
  overwrite: flag({
    name: 'overwrite',
    default: 'true',
    read: readBoolean,
    help: 'overwrite fields that others changed since the last apply; if false, report the conflicts and change nothing',
  }),
  openapiPatch: refusedFlag(
    'openapi-patch',
    'orchctl computes patches from its built-in kinds and reads no OpenAPI document',
    { accepted: 'false' },
  ),
  force: toggle({ name: 'force', help: 'delete and recreate objects that cannot be updated in place' }),
  ...deletionFlags,
  record: recordFlag,
  validate: validateFlag,
  selector: flag({
    name: 'selector',
    letter: 'l',
    value: 'SELECTOR',
    read: text,
    help: 'label selector for the objects in the files and, with --prune, for the objects to delete',
  }),
  prune: toggle({
    name: 'prune',
    help: 'delete applied objects that match -l or --all and are no longer in the files',
  }),
  all: toggle({ name: 'all', help: 'with --prune: delete objects regardless of their labels' }),
  pruneAllowlist: repeated({
    name: 'prune-allowlist',
    value: 'GROUP/VERSION/KIND',
    read: readType,
    help: 'with --prune: delete only objects of the given kinds, such as core/v1/ConfigMap',
  }),
  pruneWhitelist: repeated({
    name: 'prune-whitelist',
    value: 'GROUP/VERSION/KIND',
    read: readType,
    help: 'deprecated alias for --prune-allowlist',
  }),
  applySet: refusedFlag('applyset', 'not implemented: --prune selects objects by label', { value: 'NAME' }),
  ...connectionFlags,
}

export type ApplyOptions = OptionsOf<typeof applyFlags>
