/** The version of this package, and the level of the API that it speaks. */
export const version = '0.1.0'
export const apiLevel = { major: '1', minor: '23', patch: '17' }
