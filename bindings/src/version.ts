/** The package's version; a test holds it equal to package.json and to the core. */
export const VERSION = "0.1.0";
