/**
 * Edits objects or their recorded configurations in the user's editor. A single object is shown as it is, and several
 * objects are shown as one List. Each changed object is saved separately. If an object is rejected, the other objects
 * are still saved. Saved objects are not sent again while the user corrects the rejected objects.
 */
import type { ApiObject } from '../../../api/model/object.ts'
import { asJson } from '../../../api/model/object.ts'
import type { Subject } from '../arguments/subjects.ts'
import type { Session } from '../connection/session.ts'
import { editedManifests } from '../manifests/edited-manifests.ts'
import type { Manifest } from '../manifests/manifest.ts'
import { type DocumentFormat, printDocument } from '../printers/objects.ts'
import { inBulk } from './bulk.ts'
import { editText } from './editor.ts'

/** An object, and the part of it that the user edits: the whole object or its recorded configuration. */
export interface EditedPart extends Subject {
  readonly editable: ApiObject
}

export interface EditingObjects<P extends EditedPart> {
  /** Noun for the edited content, such as `object`, in the header comment of the file. */
  readonly what: string
  readonly windowsLineEndings: boolean
  /** Format of the edited file. */
  readonly format: DocumentFormat
  /** Saves the edited version of a part. Returns the text to print. */
  readonly saveOne: (part: P, edited: { readonly manifest: Manifest; readonly index: number }) => Promise<string>
}

export async function editObjects<P extends EditedPart>(
  session: Session,
  parts: readonly P[],
  editing: EditingObjects<P>,
): Promise<void> {
  const { what, windowsLineEndings, format } = editing
  const saved = new Map<P, string>()
  await editText(session.context, {
    what: parts.length === 1 ? what : `${what}s`,
    windowsLineEndings,
    format,
    original: await editorText(parts, format),
    save: (text, name) => saveAll(session, parts, { source: { name, text }, saved, editing }),
  })
}

async function editorText(parts: readonly EditedPart[], format: DocumentFormat): Promise<string> {
  const [first, ...more] = parts.map(({ editable }) => asJson(editable))
  if (more.length === 0) return await printDocument(first!, format)
  return await printDocument({ apiVersion: 'v1', items: [first!, ...more], kind: 'List', metadata: {} }, format)
}

interface Saving<P extends EditedPart> {
  readonly source: { readonly name: string; readonly text: string }
  /** Output for the parts that are already saved. They are not saved again when the editor reopens. */
  readonly saved: Map<P, string>
  readonly editing: EditingObjects<P>
}

async function saveAll<P extends EditedPart>(
  session: Session,
  parts: readonly P[],
  { source, saved, editing }: Saving<P>,
): Promise<string> {
  const edited = (
    await editedManifests(
      parts.map(({ editable }) => editable),
      source,
    )
  ).flatMap((manifest, i) =>
    manifest === undefined ? [] : [{ part: parts[i]!, manifest, editedJson: JSON.stringify(manifest.object) }],
  )
  await inBulk(
    session.context,
    edited.filter(({ part, editedJson }) => saved.get(part) !== editedJson),
    {
      sortOf: ({ part }) => part.type,
      done: 'edited',
      act: async ({ part, manifest, editedJson }, index) => {
        const text = await editing.saveOne(part, { manifest, index })
        saved.set(part, editedJson)
        return text
      },
    },
  )
  return ''
}
