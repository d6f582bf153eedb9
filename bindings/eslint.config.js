// Lints of the bindings (typed) and of the plain JavaScript around them: scripts, tests, examples. Run from the root:
// node bindings/node_modules/eslint/bin/eslint.js --config bindings/eslint.config.js bindings tests/js examples
import js from "@eslint/js";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["**/node_modules/**", "**/generated/**", "**/bindings/types/**"] },
  js.configs.recommended,
  {
    files: ["**/bindings/src/**/*.ts"],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-console": "error",
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-unnecessary-condition": "off",
      "@typescript-eslint/no-unnecessary-type-parameters": "off",
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
    },
  },
  {
    files: ["**/*.js", "**/*.mjs"],
    languageOptions: {
      globals: {
        console: "readonly", process: "readonly", Buffer: "readonly", URL: "readonly", WebAssembly: "readonly",
        TextEncoder: "readonly", TextDecoder: "readonly", Response: "readonly", Request: "readonly", fetch: "readonly",
        ReadableStream: "readonly", TransformStream: "readonly", WritableStream: "readonly", AbortController: "readonly", AbortSignal: "readonly", structuredClone: "readonly",
        setTimeout: "readonly", clearTimeout: "readonly", setInterval: "readonly", clearInterval: "readonly",
        setImmediate: "readonly", queueMicrotask: "readonly", performance: "readonly", globalThis: "readonly",
        crypto: "readonly", atob: "readonly", btoa: "readonly",
      },
    },
    rules: { "no-eval": "error", "no-new-func": "error", "no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }] },
  },
);
