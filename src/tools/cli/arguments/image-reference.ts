/** The format of image references: `[REGISTRY[:PORT]/]PATH[:TAG][@DIGEST]`. */

const part = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?'
const registry = `(?:${part}(?:\\.${part})*|\\[[0-9a-fA-F:]+\\])(?::[0-9]+)?`
const word = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*'
const tag = '\\w[\\w.-]{0,127}'
const digest = '[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}'
const form = new RegExp(`^(?:${registry}/)?${word}(?:/${word})*(?::${tag})?(?:@${digest})?$`)
const maxLength = 1024

/** Whether the text is a valid image reference. Does not check that the image exists. */
export function isImageReference(text: string): boolean {
  return text.length <= maxLength && form.test(text)
}
