// Validates an OpenAPI document given by its path, by schema and by the rules that a schema cannot express.
"use strict";
const SwaggerParser = require("@apidevtools/swagger-parser");

SwaggerParser.validate(process.argv[2]).then(
    (api) => console.log(`valid: ${api.openapi}, ${Object.keys(api.paths).length} paths`),
    (error) => {
      console.error(String(error).slice(0, 4000));
      process.exit(1);
    });
